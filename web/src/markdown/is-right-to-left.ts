const firstLetter = /\p{L}/u;
const rightToLeftLetter =
  /^[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]/u;

/** Returns whether the first letter of a text is one of a script that is written from right to left, as `dir="auto"` decides. */
export function isRightToLeft(text: string): boolean {
  const [letter = ''] = firstLetter.exec(text) ?? [];
  return rightToLeftLetter.test(letter);
}
