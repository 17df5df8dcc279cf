import { describe, expect, it } from "vitest";
import { exchange } from "../../../src/client/http/exchange.ts";

/** Whether a request can have reached the service, by what the platform's errors say. */

const request = { method: "POST", url: "https://service.test", headers: {} } as const;
const fail = (cause: unknown) =>
  exchange(request, { fetch: () => Promise.reject(cause), timeoutMs: 5_000, signal: undefined });

/** As `fetch` wraps it. */
const failed = (properties: object, name = "Error"): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("inner"), { name, ...properties }) });
const many = (...inner: Error[]): Error =>
  new TypeError("fetch failed", {
    cause: Object.assign(new AggregateError(inner), { code: "ECONNREFUSED" }),
  });
const coded = (properties: object): Error => Object.assign(new Error("inner"), properties);

describe("nothing was sent", () => {
  it.each([
    ["ECONNREFUSED", failed({ code: "ECONNREFUSED", syscall: "connect" })],
    ["EHOSTUNREACH on connect", failed({ code: "EHOSTUNREACH", syscall: "connect" })],
    ["ETIMEDOUT on connect", failed({ code: "ETIMEDOUT", syscall: "connect" })],
    ["ENOTFOUND", failed({ code: "ENOTFOUND", syscall: "getaddrinfo" })],
    ["EAI_AGAIN", failed({ code: "EAI_AGAIN", syscall: "getaddrinfo" })],
    ["UND_ERR_CONNECT_TIMEOUT", failed({ code: "UND_ERR_CONNECT_TIMEOUT" }, "ConnectTimeoutError")],
    ["CERT_HAS_EXPIRED", failed({ code: "CERT_HAS_EXPIRED" })],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", failed({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" })],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", failed({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" })],
    ["ERR_TLS_CERT_ALTNAME_INVALID", failed({ code: "ERR_TLS_CERT_ALTNAME_INVALID" })],
    ["ERR_SSL_WRONG_VERSION_NUMBER", failed({ code: "ERR_SSL_WRONG_VERSION_NUMBER" })],
    [
      "every address refused",
      many(
        coded({ code: "ECONNREFUSED", syscall: "connect" }),
        coded({ code: "ENETUNREACH", syscall: "connect" }),
      ),
    ],
  ])("for %s", async (_, cause) => {
    expect(await fail(cause)).toMatchObject({ kind: "no-answer", maySent: false });
  });
});

describe("it may have been sent", () => {
  it.each([
    ["UND_ERR_SOCKET", failed({ code: "UND_ERR_SOCKET" }, "SocketError")],
    ["a reset while reading", failed({ code: "ECONNRESET", syscall: "read" })],
    ["a reset of no named kind", failed({ code: "ECONNRESET" })],
    ["a reset while connecting", failed({ code: "ECONNRESET", syscall: "connect" })],
    ["EPIPE", failed({ code: "EPIPE", syscall: "write" })],
    ["ETIMEDOUT while reading", failed({ code: "ETIMEDOUT", syscall: "read" })],
    ["EHOSTUNREACH while reading", failed({ code: "EHOSTUNREACH", syscall: "read" })],
    ["UND_ERR_HEADERS_TIMEOUT", failed({ code: "UND_ERR_HEADERS_TIMEOUT" })],
    ["an alert of TLS", failed({ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" })],
    ["an HTTP/2 stream that failed", failed({ code: "ERR_HTTP2_STREAM_ERROR" })],
    ["an answer that is no HTTP", failed({ code: "HPE_INVALID_CONSTANT" })],
    [
      "one address refused, one reset",
      many(coded({ code: "ECONNREFUSED", syscall: "connect" }), coded({ code: "ECONNRESET" })),
    ],
    ["no address named", many()],
    ["an error without a code", new TypeError("fetch failed")],
    ["a refused code without its system call", failed({ code: "ECONNREFUSED" })],
    ["text", "refused"],
    ["nothing", undefined],
  ])("for %s", async (_, cause) => {
    expect(await fail(cause)).toMatchObject({ kind: "no-answer", maySent: true });
  });
});

it.each([
  ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
  ["UND_ERR_BODY_TIMEOUT", "timeout"],
  ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
  ["ETIMEDOUT", "timeout"],
  ["ECONNRESET", "unreachable"],
])("%s is a %s", async (code, why) => {
  expect(await fail(failed({ code }))).toMatchObject({ why });
});
