"""A receiver as Python's documentation puts it together: http.server, hmac, json."""
import hashlib
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = sys.argv[1].encode()
orders = {}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, self.headers["X-Service-Signature"]):
            self.send_response(401)
            self.end_headers()
            return
        event = json.loads(body)
        data = event["data"]
        order = orders.setdefault(data["contractId"], {"paid": 0, "refunds": {}})
        order["status"] = data["status"]
        if event["event"] == "payment.completed":
            order["paid"] += data["amount"]
        if event["event"].endswith("refund.full-initiated"):
            order["refunds"][data["contractId"]] = "initiated"
        if event["event"].endswith("refund.full-succeeded"):
            order["refunds"][data["contractId"]] = "succeeded"
        self.send_response(200)
        self.end_headers()

    def do_GET(self):
        order = orders.get(self.path.removeprefix("/orders/"))
        self.send_response(200 if order else 404)
        self.end_headers()
        self.wfile.write(json.dumps(order).encode())

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
server.handle_error = lambda *args: None
print(server.server_port, flush=True)
server.serve_forever()
