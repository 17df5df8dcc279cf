/** Express 4 under a name of its own brings no types: those of 5 fit what the tests use. */
declare module "express4" {
  export { default } from "express";
}
