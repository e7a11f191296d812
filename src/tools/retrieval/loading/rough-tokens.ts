const perWordChar = 0.25;
const perOtherChar = 0.5;

/**
 * Tokens that a text comes to, near enough to cut it by: four letters or digits of Latin script make one, as do two marks or
 * letters of other alphabets, or one sign of scripts that write a word in one or two.
 */
export function roughTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += tokensOfCode(text.charCodeAt(index));
  return tokens;
}

function tokensOfCode(code: number): number {
  if (code >= 0x2e80) return 1;
  const isWord = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 32;
  return isWord ? perWordChar : perOtherChar;
}
