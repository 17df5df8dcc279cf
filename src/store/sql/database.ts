import { OperationNodeTransformer, SchemableIdentifierNode, type Generated, type KyselyPlugin } from "kysely";
import type { TablePlace } from "./dialect.ts";
import { tables, type TableName, type Tables } from "../tables.ts";

/**
 * The tables as `mirror.db` sees them: `mirror.db.selectFrom("contracts").select("status")`. Columns are the fields in
 * snake case (`from` and `to` of a transition are `from_status` and `to_status`); amounts are halalas; booleans are 0 or
 * 1; JSON is text. Write the names without the store's prefix: it is added.
 */
export type MirrorDatabase = { [Name in TableName]: SqlRow<Tables[Name]> };

/** A row as SQL sees it. */
type SqlRow<Row> = { [Field in keyof Row & string as ColumnName<Field>]: SqlType<Field, Row[Field]> };

/** The column of a field. */
type ColumnName<Field extends string> = Field extends "from" | "to" ? `${Field}_status` : SnakeCase<Field>;

/** A name in snake case. */
type SnakeCase<Text extends string> = Text extends `${infer Head}${infer Tail}`
  ? `${Head extends Uppercase<Head> ? (Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`) : Head}${SnakeCase<Tail>}`
  : "";

/** The type of a column. */
type SqlType<Field, Value> = Field extends "seq"
  ? Generated<number>
  : Field extends "digest" | "contentKey"
    ? Uint8Array
    : Value extends string | number | Uint8Array | null
      ? Value
      : Value extends boolean
        ? number
        : string | Extract<Value, null>;

/** Puts the store's schema and prefix before the names of our tables, wherever a query mentions one, and touches no other. */
export function prefixPlugin(place: TablePlace): KyselyPlugin {
  const transformer = new PrefixTransformer(place);
  return {
    transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
    transformResult: async ({ result }) => result,
  };
}

class PrefixTransformer extends OperationNodeTransformer {
  readonly #place: TablePlace;

  constructor(place: TablePlace) {
    super();
    this.#place = place;
  }

  protected override transformSchemableIdentifier(
    node: SchemableIdentifierNode,
    ...rest: never[]
  ): SchemableIdentifierNode {
    const { name } = node.identifier;
    if (node.schema !== undefined || !(name in tables))
      return super.transformSchemableIdentifier(node, ...rest);
    return toNode(this.#place, name);
  }
}

function toNode({ schema, prefix }: TablePlace, name: string): SchemableIdentifierNode {
  const table = prefix + name;
  return schema === null
    ? SchemableIdentifierNode.create(table)
    : SchemableIdentifierNode.createWithSchema(schema, table);
}
