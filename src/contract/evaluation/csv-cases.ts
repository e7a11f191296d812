import { type JsonObject, tryParseJson } from '#base/json/json.ts';
import { readCsvRows } from '#base/text/csv-rows.ts';
import { ParleyError } from '../errors/errors.ts';
import { caseBounds } from './evaluation-case.ts';

type ToCheck = (cell: string) => JsonObject;

/** Conversions from the cell of a column to a check. */
const columns: Readonly<Record<string, ToCheck>> = {
  contains: (text) => ({ type: 'contains', text }),
  equals: (text) => ({ type: 'equals', text }),
  matches: (pattern) => ({ type: 'matches', pattern }),
  json_schema: (cell) => ({ type: 'json_schema', schema: tryParseJson(cell) ?? cell }),
  calls: toCall,
  does_not_call: (tool) => ({ type: 'does_not_call', tool }),
  max_cost_usd: (cell) => ({ type: 'cost_at_most', usd: tryParseJson(cell) ?? cell }),
  max_seconds: (cell) => ({ type: 'time_at_most', seconds: tryParseJson(cell) ?? cell }),
};
const baseColumns = ['name', 'input', 'judge', 'rubric'];
/** Maximum number of columns. A case has at most 20 checks, but the columns of different cases can differ. */
const maxColumns = 100;

/**
 * Converts the rows of a table to cases without validating them. A column can repeat. Throws `invalid_request` if the header is
 * invalid.
 */
export function parseCsvCases(text: string): readonly JsonObject[] {
  const [header = [], ...rows] = readCsvRows(text.replace(/^\uFEFF/, ''));
  if (header.length > maxColumns) throw createError(`has more than ${maxColumns} columns`);
  if (rows.length > caseBounds.maxCases) throw createError(`has more than ${caseBounds.maxCases} rows`);
  const names = header.map((name) => name.toLowerCase());
  const knownColumns = [...baseColumns, ...Object.keys(columns)];
  const unknown = names.find((name) => !knownColumns.includes(name));
  if (unknown !== undefined)
    throw createError(
      `has the unknown column ${JSON.stringify(unknown.slice(0, 64))}. Known columns: ${knownColumns.join(', ')}`,
    );
  if (!names.includes('input')) throw createError('has no column input in its first line');
  return rows.map((row) => toCase(names, row));
}

function toCase(names: readonly string[], row: readonly string[]): JsonObject {
  const getCell = (name: string): string => row[names.indexOf(name)] ?? '';
  const checks = names.flatMap((name, index) => {
    const cell = row[index] ?? '';
    const toCheck = Object.hasOwn(columns, name) ? columns[name] : undefined;
    return cell === '' || toCheck === undefined ? [] : [toCheck(cell)];
  });
  const [name, deployment, rubric] = ['name', 'judge', 'rubric'].map(getCell);
  if (deployment || rubric) checks.push({ type: 'judged', ...(deployment && { deployment }), ...(rubric && { rubric }) });
  return { ...(name && { name }), input: getCell('input'), checks };
}

/** Parses `find_items`, or `find_items {"shop": "north"}`. */
function toCall(cell: string): JsonObject {
  const at = cell.indexOf('{');
  if (at === -1) return { type: 'calls', tool: cell };
  const cellText = cell.slice(at);
  return { type: 'calls', tool: cell.slice(0, at).trim(), arguments: tryParseJson(cellText) ?? cellText };
}

function createError(claim: string): ParleyError {
  return new ParleyError('invalid_request', `The table ${claim}.`);
}
