/** Focuses the message input, except on touch screens, where the keyboard would cover the text. */
export function focusMessage(): void {
  if (matchMedia('(hover: hover)').matches) document.getElementById('message')?.focus();
}
