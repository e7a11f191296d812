/** Whether the user asks the browser to save data. */
export function isSparing(): boolean {
  const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}
