import { sendNode, toRequest, type NodeRequest, type NodeResponse } from "./node-stream.ts";
import { createAnswer, faultOf, type MirrorSource } from "./protocol.ts";

/**
 * Answers one request. Resolves when the answer is sent, or when the connection is gone. Then `res.writableEnded` tells the
 * host that the request is done. Never rejects.
 */
export type NodeHandler = (req: NodeRequest, res: NodeResponse) => Promise<void>;

export function createNodeHandler(source: MirrorSource, hint: string): NodeHandler {
  const answer = createAnswer(source);
  return async (req, res) => {
    try {
      await sendNode(req, res, await answer(toRequest(req, hint)));
    } catch (error) {
      await answer(faultOf(error, hint));
      res.destroy();
    }
  };
}
