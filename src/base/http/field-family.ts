/**
 * Returns whether a header field, by its name in lower case, belongs to one of the families. A family is the beginning of names up to and with a
 * hyphen: `x-sendfile-` has `x-sendfile` and `x-sendfile-type`. Underscores count as hyphens, since servers behind CGI cannot tell them apart.
 */
export function isInFamily(name: string, families: ReadonlySet<string>): boolean {
  const ended = `${name.replaceAll('_', '-')}-`;
  for (let at = ended.indexOf('-'); at !== -1; at = ended.indexOf('-', at + 1))
    if (families.has(ended.slice(0, at + 1))) return true;
  return false;
}
