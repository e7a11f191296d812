/** Whether a status is of somebody between the page and the service, who does not find it. */
export function isGatewayError(status: number): boolean {
  return status >= 502 && status <= 504;
}
