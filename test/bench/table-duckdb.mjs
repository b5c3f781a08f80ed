// Peer of bench:table: reads a CSV table, joins the list of domains and writes a CSV table with DuckDB.
//
// node table-duckdb.mjs INPUT LIST OUTPUT
import { DuckDBInstance } from "@duckdb/node-api";

const [input, list, output] = process.argv.slice(2);
const connection = await (await DuckDBInstance.create(":memory:")).connect();
await connection.run(`
  COPY (
    SELECT input.*, CASE WHEN list.domain IS NULL THEN 'ok' ELSE 'disposable' END AS status
    FROM read_csv('${input}', header = true, all_varchar = true) input
    LEFT JOIN read_csv('${list}', header = false, columns = {'domain': 'VARCHAR'}) list
      ON list.domain = lower(split_part(input.email, '@', 2))
  ) TO '${output}' (HEADER, DELIMITER ',')`);
