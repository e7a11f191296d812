/** Chooses between the forms for one and for many as a language does; a count that is written out counts too. */
export function createPlural(language: string): (count: number | string, singular: string, plural: string) => string {
  const rules = new Intl.PluralRules(language);
  return (count, singular, plural) => (rules.select(Number(count)) === 'one' ? singular : plural);
}
