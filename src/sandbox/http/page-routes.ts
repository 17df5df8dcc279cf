import { identityPage } from "../pages/identity.ts";
import { noticePage } from "../pages/notice-page.ts";
import { pickLanguage } from "../pages/words.ts";
import { findUser } from "../service/users.ts";
import { changeUser } from "../control/user-changes.ts";
import type { World } from "../world/world.ts";
import { pageAnswer, redirect, refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { readForm, wrongMethod } from "./call.ts";
import type { Call } from "./call.ts";
import { answerCheckout } from "./checkout-routes.ts";

/** The payment page, the identity pages, and a way from `/` to the control page. */
export function answerPage(world: World, call: Call): Answer {
  if (call.path === "/") return redirect("/_sandbox/");
  const [, kind, id = ""] = /^\/(checkout|kyc|onboarding)\/([^/]+)$/.exec(call.path) ?? [];
  if (kind === undefined) {
    const detail = `The sandbox has no ${call.method} ${call.path}. Its API is under /apps/api, its control page at /_sandbox/.`;
    return refused({ status: 404, message: "NotFound", detail });
  }
  if (!["GET", "HEAD", "POST"].includes(call.method)) return wrongMethod(call, ["GET", "POST"]);
  return kind === "checkout" ? answerCheckout(world, call, id) : answerIdentity(world, call, id);
}

/** The text messages of §1 and §4.4 link here; a click verifies. */
function answerIdentity(world: World, call: Call, platformRefId: string): Answer {
  const posted = call.method === "POST" ? readForm(call) : undefined;
  const language = pickLanguage((posted ?? call.query).get("lang"), call.headers["accept-language"]);
  const user = findUser(world, platformRefId);
  if (!user.ok) return pageAnswer(404, noticePage("unknownPerson", language, {}));
  if (posted === undefined) return pageAnswer(200, identityPage(user.value, language));
  changeUser(world, platformRefId, { authorized: true, bankVerified: true });
  world.state.commit();
  return redirect(`${call.path}?lang=${language}`);
}
