"""The Internet, as far as tests need one: name servers, web servers and others on addresses that the test has
made. Whatever reaches one of them is written to standard output, one line each."""
import base64
import gzip
import http.server
import json
import pathlib
import posixpath
import select
import socket
import socketserver
import ssl
import struct
import sys
import threading
import urllib.parse

PUBLIC, SECOND, NAMES = "93.184.216.34", "93.184.216.35", "93.184.216.53"
PRIVATE, METADATA, SIX, UNIQUE_LOCAL = "10.1.2.3", "169.254.169.254", "2606:4700::1", "fd00::1"

# name -> answers to the first question, the second, ...; the last one stays.
TABLE = {
    "example.com": [[PUBLIC]],
    "www.example.com": [[PUBLIC]],
    "other.example": [[SECOND]],
    "api.example": [[PUBLIC]],
    "six.example": [[SIX]],
    "rebind.example": [[PUBLIC], [PRIVATE]],
    "private.example": [[PRIVATE]],
    "mixed.example": [[PRIVATE, PUBLIC]],
    "loop.example": [["127.0.0.1"]],
    "zero.example": [["0.0.0.0"]],
    "meta.example": [[METADATA]],
    "mapped.example": [["::ffff:" + PRIVATE]],
    "unique.example": [[UNIQUE_LOCAL]],
    "self.example": [["93.184.217.1"]],
    "dead.example": [["93.184.216.99"]],
}
print_lock = threading.Lock()


def say(*words):
    with print_lock:
        print(*words, flush=True)


def read_question(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    return ".".join(labels), struct.unpack("!H", query[at + 1:at + 3])[0], query[12:at + 5]


def serve_names():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((NAMES, 53))
    asked = {}
    while True:
        query, peer = server.recvfrom(4096)
        name, kind, question = read_question(query)
        say("QUERY", name, kind)
        turn = asked.get((name, kind), 0)
        asked[name, kind] = turn + 1
        answers = TABLE.get(name.lower(), [[]])
        answers = answers[min(turn, len(answers) - 1)]
        family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
        packed = [socket.inet_pton(family, each) for each in answers if family and (":" in each) == (kind == 28)]
        known = name.lower() in TABLE
        reply = query[:2] + struct.pack("!HHHHH", 0x8180 | (0 if known else 3), 1, len(packed), 0, 0) + question
        for each in packed:
            reply += struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(each)) + each
        server.sendto(reply, peer)


def count_datagrams():
    """Closed addresses first: whoever sees a datagram at a public one has seen all that came before it."""
    sinks = []
    for address in (PRIVATE, METADATA, UNIQUE_LOCAL, SIX, PUBLIC):
        sinks.append(socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM))
        sinks[-1].bind((address, 9))
    while True:
        ready = select.select(sinks, [], [])[0]
        for sink in sinks:
            if sink in ready:
                say("DATAGRAM", sink.getsockname()[0], sink.recv(1000).decode("latin-1"))


def opened_by_many(path):
    """The file that servers open which decode a path, drop what follows a semicolon and only then resolve dots."""
    steps = urllib.parse.unquote(path.split("?")[0]).split("/")
    return posixpath.normpath("/".join(step.split(";")[0] for step in steps))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            whole = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline() != b"\r\n":
                pass
            return whole
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self):
        address = self.connection.getsockname()
        body = self.body()
        say("HIT", address[0], address[1], self.command, self.path)
        for name in ("Authorization", "X-Key", "X-Other", "Accept-Encoding"):
            if name in self.headers:
                say("SENT", name, self.headers[name])
        if self.path.startswith("/quiet"):
            return self.send_parts([b"quiet"])
        if self.path.startswith("/echo/"):
            return self.echo(self.path.split("/")[2])
        if self.path.startswith("/redirect/"):
            self.send_response(302)
            self.send_header("Location", "http://" + self.path[len("/redirect/"):])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path.startswith("/files/"):
            return self.send_file(self.path[len("/files/"):].split("?")[0])
        if self.path.startswith("/big/"):
            return self.send_big(int(self.path[5:]))
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        text = json.dumps({"at": address[0], "port": address[1], "method": self.command, "path": self.path,
                           "opens": opened_by_many(self.path),
                           "peer": self.client_address[1], "headers": list(self.headers.items()),
                           "size": len(body), "body": body[:200].decode("latin-1"),
                           "origin": self.client_address[0], "args": list(query.items())}).encode()
        self.send_response(200)
        if self.path.startswith("/chunked"):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(text), 7):
                piece = text[at:at + 7]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif self.path.startswith("/until-close"):
            self.close_connection = True
            self.end_headers()
            self.wfile.write(text)
        else:
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)

    def send_parts(self, parts, headers=()):
        """A body of known length, one write each, so that each is a TLS record of its own."""
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(sum(map(len, parts))))
        self.end_headers()
        for part in parts:
            self.wfile.write(part)

    def echo(self, how):
        """Sends X-Key back in the way that the path names."""
        value = self.headers.get("X-Key", "")
        text = value.encode("latin-1")
        if how == "header":
            return self.send_parts([b"."], [("X-Echo", value), ("Set-Cookie", "key=" + value)])
        if how == "status":
            self.send_response(200, "it was " + value)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if how == "nonsense":
            self.close_connection = True
            return self.wfile.write(b"HTTP/1.1 200 OK\r\n" + text + b" is no header\r\n\r\n")
        if how == "bytes":
            return self.send_parts([b"<"] + [text[i:i + 1] for i in range(len(text))] + [b">"])
        if how == "chunks":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(len(text)):
                self.wfile.write(b"1;ext=" + text + b"\r\n%s\r\n" % text[i:i + 1])
            return self.wfile.write(b"0\r\nX-Trailer: " + text + b"\r\n\r\n")
        if how == "close":
            self.close_connection = True
            self.send_response(200)
            self.end_headers()
            return self.wfile.write(b"<" + text + b">" + text[:-1])
        if how == "base64":
            return self.send_parts([base64.b64encode(b"x" * n + text + b"yz") + b"\n" for n in range(3)])
        if how == "gzip":
            return self.send_parts([gzip.compress(text)], [("Content-Encoding", "gzip")])
        return self.send_parts([text])

    def send_file(self, name):
        """What lies in the directory of stand-ins; of a directory, its index."""
        path = FILES / name
        path = path / "index.html" if path.is_dir() else path
        content = path.read_bytes() if ".." not in name and path.is_file() else None
        self.send_response(404 if content is None else 200)
        kind = {".html": "text/html", ".json": "application/json"}.get(path.suffix, "application/octet-stream")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def send_big(self, size):
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        piece = bytes(range(256)) * 1024
        while size > 0:
            self.wfile.write(piece[:size])
            size -= len(piece)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer


class Echo(socketserver.BaseRequestHandler):
    """Speaks first, then repeats what it hears, and says goodbye after the other side's end."""

    def handle(self):
        say("HIT", *self.server.server_address[:2], "echo")
        self.request.sendall(b"hello\n")
        while data := self.request.recv(65536):
            self.request.sendall(data)
        self.request.sendall(b"goodbye\n")


class Silent(socketserver.BaseRequestHandler):
    """Hears everything, says nothing, and never ends a connection."""

    def handle(self):
        say("HIT", *self.server.server_address[:2], "silent")
        while self.request.recv(65536):
            pass
        threading.Event().wait()


class Deaf(socketserver.BaseRequestHandler):
    """Takes connections and never reads from them."""

    def handle(self):
        say("HIT", *self.server.server_address[:2], "deaf")
        threading.Event().wait()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 2048

    def __init__(self, address, handler, context=None):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.context = context
        super().__init__(address, handler)

    def finish_request(self, request, client):
        if self.context:
            try:
                request = self.context.wrap_socket(request, server_side=True)
            except OSError as error:
                say("TLS", "failed", str(error).replace(" ", "-"))
                return
            self.RequestHandlerClass(request, client, self)
            request.close()
        else:
            self.RequestHandlerClass(request, client, self)

    def handle_error(self, *_):
        pass


FILES = pathlib.Path(sys.argv[3])


def main(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.sni_callback = lambda sock, name, _: say("SNI", name)
    servers = [Server((address, port), Handler)
               for address in (PUBLIC, SECOND, PRIVATE, METADATA, SIX, UNIQUE_LOCAL) for port in (80, 8080)]
    servers += [Server((address, 443), Handler, context) for address in (PUBLIC, SECOND, PRIVATE)]
    servers += [Server((PUBLIC, port), handler) for port, handler in ((7, Echo), (9, Silent), (13, Deaf))]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=serve_names, daemon=True).start()
    threading.Thread(target=count_datagrams, daemon=True).start()
    say("READY")
    for line in sys.stdin:
        say("MARK", line.strip())


main(*sys.argv[1:3])
