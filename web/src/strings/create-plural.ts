/** Returns a function that selects the singular or plural form by the rules of a language. It also accepts numeric text. */
export function createPlural(language: string): (count: number | string, singular: string, plural: string) => string {
  const rules = new Intl.PluralRules(language);
  return (count, singular, plural) => (rules.select(Number(count)) === 'one' ? singular : plural);
}
