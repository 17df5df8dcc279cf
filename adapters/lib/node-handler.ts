import { sendNode, toHostRequest, type NodeRequest, type NodeResponse } from "./node-stream.ts";
import { createAnswer, gone, type MirrorSource } from "./protocol.ts";

/** Returns nothing and never throws, so that no version of a framework has a rejection to handle. */
export type NodeHandler = (req: NodeRequest, res: NodeResponse) => void;

export function createNodeHandler(source: MirrorSource, hint: string): NodeHandler {
  const answer = createAnswer(source);
  const handle = async (req: NodeRequest, res: NodeResponse): Promise<void> => {
    const result = await answer(toHostRequest(req, hint));
    if (result !== gone) await sendNode(req, res, result);
  };
  return (req, res) => {
    // What is left to fail is the connection itself, of which nobody is to be told.
    handle(req, res).catch(() => res.destroy());
  };
}
