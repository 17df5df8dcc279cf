import { exampleTests } from "../../test/support/example-tests.ts";

exampleTests(new URL("main.ts", import.meta.url));
