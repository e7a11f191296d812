/**
 * A syntax error with its line and column, both from 1. The message does not quote the text, because the text can contain
 * secrets.
 */
export interface TextError {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type ParsedText = { readonly value: unknown } | { readonly errors: readonly TextError[] };
