/** Which index a filter goes by. A list that offers a filter without a path of its own walks for it: a test fails. */
import type { Condition, FieldOf, Stretch } from "../store/store.ts";
import type { TableName, Tables } from "../store/tables.ts";

/** A list as data. */
export interface List<Name extends TableName> {
  readonly table: Name;
  /** The first that fits the filter is taken; the last fits every one. */
  readonly paths: readonly Path<Name>[];
  readonly descending?: boolean;
  /** Fields that the list's items do not show. */
  readonly without?: readonly FieldOf<Name>[];
}

/** An index that the stores have, and the filters that it answers. */
export interface Path<Name extends TableName> {
  /** Its first field, where the filter names values of that. */
  readonly of?: FieldOf<Name>;
  /** Its other fields, which order the page. */
  readonly by: readonly FieldOf<Name>[];
  /** It is taken for filters that bound the first field of `by`. */
  readonly bounded?: boolean;
  /** It holds rows only in which these fields are not null, as the filter says too. */
  readonly present?: readonly FieldOf<Name>[];
}

/** How a filter goes through a list. */
export interface Walk<Name extends TableName> {
  readonly path: Path<Name>;
  /** One for each value that the path is asked for. */
  readonly stretches: readonly Omit<Stretch<Tables[Name]>, "rowsMax">[];
  /** The conditions that the path does not cover. */
  readonly rest: readonly Condition<Tables[Name]>[];
}

export function walkThrough<Name extends TableName>(
  { paths, descending }: List<Name>,
  where: readonly Condition<Tables[Name]>[],
): Walk<Name> {
  const path = paths.find((each) => fits(each, where));
  if (path === undefined) throw new TypeError("a list has a path for every filter");
  const { of, by, present = [] } = path;
  const isAnswered = (condition: Condition<Tables[Name]>): boolean =>
    valuesOf(condition, of) !== undefined ||
    isBound(condition, by[0]) ||
    (condition.op === "not-null" && present.includes(condition.field));
  const stretch = { by, descending, present, ...boundsIn(where, by[0]) };
  const values = where.flatMap((condition) => valuesOf(condition, of) ?? []);
  return {
    path,
    stretches:
      of === undefined
        ? [stretch]
        : [...new Set(values)].map((value) => ({ ...stretch, of: { field: of, value } })),
    rest: where.filter((condition) => !isAnswered(condition)),
  };
}

function fits<Name extends TableName>(
  { of, by, bounded = false, present = [] }: Path<Name>,
  where: readonly Condition<Tables[Name]>[],
): boolean {
  return (
    (of === undefined || where.some((condition) => valuesOf(condition, of) !== undefined)) &&
    (!bounded || where.some((condition) => isBound(condition, by[0]))) &&
    present.every((field) => where.some((each) => each.op === "not-null" && each.field === field))
  );
}

/** The values that a condition asks of a field; `undefined` for any other condition. */
function valuesOf<Row>(
  condition: Condition<Row>,
  field: string | undefined,
): readonly (string | number | null)[] | undefined {
  if (condition.field !== field) return undefined;
  // No list goes by whether something is so.
  if (condition.op === "=" && typeof condition.value !== "boolean") return [condition.value];
  return condition.op === "in" ? condition.value : undefined;
}

function isBound<Row>({ field, op }: Condition<Row>, first: string | undefined): boolean {
  return field === first && (op === ">=" || op === "<");
}

function boundsIn<Row>(where: readonly Condition<Row>[], first: string | undefined) {
  const bounds: { from?: string | number; until?: string | number } = {};
  for (const condition of where) {
    if (!isBound(condition, first)) continue;
    if (condition.op === ">=") bounds.from = condition.value;
    if (condition.op === "<") bounds.until = condition.value;
  }
  return bounds;
}
