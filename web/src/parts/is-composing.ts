/** The key code of a key that the input method has handled (UI Events, section "Legacy key attributes"). */
const handledKeyCode = 229;

/**
 * Returns whether a key press belongs to an input method, such as the Enter that confirms a candidate. Safari sends that
 * Enter after `compositionend`, where only its key code differs from an Enter of the user.
 */
export function isComposing(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return event.isComposing || event.keyCode === handledKeyCode;
}
