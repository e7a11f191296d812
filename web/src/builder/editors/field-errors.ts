/** Error messages by field path, in the notation of the service. */
export type FieldErrors = ReadonlyMap<string, string>;

const path = String.raw`[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*`;
/** Each sentence starts with the path of its field. A message can contain semicolons. */
// Pattern bound: the user's own tab: one error message.
const separator = new RegExp(String.raw`; (?=(?:${path}) (?:must|is|cannot|names|has|needs|takes|was|may)\b)`);
// Pattern bound: the user's own tab: one error message.
const sentence = new RegExp(`^(${path}) (.*)$`, 's');

/** Extracts the errors of a rejected request from its message. `param` is the field of the first error. */
export function toFieldErrors(message: string, param: string | undefined): FieldErrors {
  const errors = new Map<string, string>();
  for (const part of message
    .replace(/\.$/, '')
    .replace(/; and \d+ more$/, '')
    .split(separator)) {
    const [, field, description] = sentence.exec(part) ?? [];
    const isFirst = errors.size === 0;
    if (field !== undefined && description !== undefined && (!isFirst || field === param)) {
      if (!errors.has(field)) errors.set(field, `${description}.`);
    } else if (isFirst && param !== undefined) errors.set(param, message);
  }
  return errors;
}

/** Lists the errors at a path and below it. Errors below it include their path. */
export function listErrorsUnder(errors: FieldErrors, base: string): readonly string[] {
  return [...errors].flatMap(([path, description]) => {
    if (path === base) return [description];
    return path.startsWith(`${base}.`) || path.startsWith(`${base}[`)
      ? [`${path.slice(base.length).replace(/^\./, '')} ${description}`]
      : [];
  });
}
