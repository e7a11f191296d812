/** Puts the cursor where the user writes; not on touch screens, where that would bring up a keyboard over what is read. */
export function focusMessage(): void {
  if (matchMedia('(hover: hover)').matches) document.getElementById('message')?.focus();
}
