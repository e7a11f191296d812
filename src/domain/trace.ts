/** W3C trace context as it came, or made for this call. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}
