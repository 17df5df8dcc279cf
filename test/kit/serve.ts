import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A listener on a real port. */
export async function startServer(listener: RequestListener): Promise<RunningServer> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
