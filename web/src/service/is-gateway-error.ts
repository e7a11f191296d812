/** Whether a status comes from a proxy that cannot reach the service. */
export function isGatewayError(status: number): boolean {
  return status >= 502 && status <= 504;
}
