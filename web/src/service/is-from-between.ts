/** Whether a status is of somebody between the page and the service, who does not find it. */
export function isFromBetween(status: number): boolean {
  return status >= 502 && status <= 504;
}
