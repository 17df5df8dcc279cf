/** Unit tests that draw cases draw the same ones for each mutant. */
import * as fc from "fast-check";

fc.configureGlobal({ seed: 20_260_125 });
