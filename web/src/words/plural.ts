/** Chooses between the forms for one and for many as a language does; a count that is written out counts too. */
export function pluralIn(language: string): (count: number | string, one: string, many: string) => string {
  const rules = new Intl.PluralRules(language);
  return (count, one, many) => (rules.select(Number(count)) === 'one' ? one : many);
}
