/** A proxy before a server, for what networks do: nothing comes through any more, or nobody listens. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Proxy {
  /** The target's, by way of the proxy. */
  readonly url: string;
  /** Nothing comes through; who connects is let in and hears nothing. */
  hang(): void;
  /** What was sent meanwhile comes through. */
  goOn(): void;
  /** Nobody listens any more, and every connection breaks. */
  close(): Promise<void>;
}

export async function openProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let hanging = false;
  const proxy = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    socket.on("data", (bytes) => upstream.write(bytes));
    upstream.on("data", (bytes) => socket.write(bytes));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      if (hanging) one.pause();
      one.on("error", () => other.destroy()).on("close", () => sockets.delete(one) && other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    hang: () => {
      hanging = true;
      for (const socket of sockets) socket.pause();
    },
    goOn: () => {
      hanging = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}
