import type { World } from "../world/world.ts";
import type { Answer } from "./answer.ts";
import { answerApi } from "./api-routes.ts";
import type { Call } from "./call.ts";
import { answerControl } from "./control-routes.ts";
import type { FormProblems } from "./form-problems.ts";
import { answerOpenapi } from "./openapi-route.ts";
import { answerPage } from "./page-routes.ts";

/** The sandbox's three faces: the service's API, the control page with its interface, and the pages for buyers. */
export async function answerCall(world: World, problems: FormProblems, call: Call): Promise<Answer | "cut"> {
  if (call.path.startsWith("/apps/api/") || call.path === "/connect/token") return answerApi(world, call);
  if (call.path === "/openapi.json") return answerOpenapi(call);
  if (call.path === "/_sandbox" || call.path.startsWith("/_sandbox/"))
    return answerControl(world, problems, call);
  return answerPage(world, call);
}
