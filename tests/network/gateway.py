"""A stand-in for Apache APISIX in an image that is laid out like its own: routes, two plugins, an upstream. The routes
are JSON, which is YAML, too."""
import fnmatch
import http.client
import http.server
import json
import sys

PREFIX = sys.argv[1]


def read_routes():
    """Read again for every request, as the real one looks at the file each second."""
    with open(PREFIX + "/conf/apisix.yaml") as file:
        text = file.read().rstrip()
    # The real one takes no file without it: it may not be written to its end yet.
    return json.loads(text.removesuffix("#END")) if text.endswith("#END") else {}


class Gateway(http.server.BaseHTTPRequestHandler):
    server_version, sys_version = "APISIX/3.9.0", ""

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def may(self, plugins, consumers):
        keys = [each["plugins"]["key-auth"]["key"] for each in consumers]
        return "key-auth" not in plugins or self.headers.get("apikey") in keys

    def upstream(self, route):
        host, port = next(iter(route["upstream"]["nodes"])).split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        connection.request(self.command, self.path)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def do_GET(self):
        settings = read_routes()
        for route in settings.get("routes", []):
            if not fnmatch.fnmatchcase(self.path, route["uri"]):
                continue
            plugins = route.get("plugins", {})
            if not self.may(plugins, settings.get("consumers", [])):
                return self.reply(401, b'{"message":"Invalid API key in request"}')
            try:
                status, body = self.upstream(route)
            except OSError as error:
                status, body = 502, str(error).encode()
            if "response-rewrite" in plugins:
                body = plugins["response-rewrite"]["body"].encode()
            return self.reply(status, body)
        self.reply(404, b'{"error_msg":"404 Route Not Found"}')

    do_HEAD = do_GET


http.server.ThreadingHTTPServer(("0.0.0.0", 9080), Gateway).serve_forever()
