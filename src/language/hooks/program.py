class Program(Rich):
    def __init__(self):
        super().__init__(self.write)

    @staticmethod
    def write(mime, data):
        if isinstance(data, str) and mime.startswith("image/"):
            data = binascii.a2b_base64(data)  # Jupyter's objects may give it ready
        elif not isinstance(data, (str, bytes, bytearray)):
            data = json.dumps(data, ensure_ascii=False, default=str)
        if isinstance(data, str):
            data = data.encode(errors="replace")  # half a surrogate pair is no text
        os.makedirs(PLACE, 0o700, exist_ok=True)
        # In the order in which they were shown, whichever process did.
        path = f"{PLACE}/{time.monotonic_ns():020d}-{os.getpid()}"
        with open(path + ".part", "xb") as file:
            file.write(mime.encode(errors="replace") + b"\n")
            file.write(data)
        os.rename(path + ".part", path)

    def find_spec(self, name):
        return self.patched(name, importlib.util.find_spec(name))

    def pyplot_came(self):
        atexit.register(self.figures)  # those that nobody has shown


program = Program()
