import { type DocumentBounds, defaultDocumentBounds, loadDocument } from '../../src/tools/retrieval/loading/load-document.ts';

type LoadResult = ReturnType<typeof loadDocument>;

/** Reads a document as the service does, with its own name and bounds. */
export function load(
  content: string | Uint8Array,
  name: string,
  bounds: Partial<DocumentBounds> & { contentType?: string; signal?: AbortSignal } = {},
): LoadResult {
  const bytes = Uint8Array.from(typeof content === 'string' ? Buffer.from(content) : content);
  const { contentType = 'application/octet-stream', ...overrides } = bounds;
  return loadDocument(
    bytes,
    { name, contentType },
    { ...defaultDocumentBounds, signal: new AbortController().signal, ...overrides },
  );
}

/** Returns the error message for a document that cannot be read. */
export async function getReadError(loading: LoadResult): Promise<string> {
  return loading.then(
    ({ passages }) => `it was read: ${passages.length} passages`,
    (error: Error) => error.message,
  );
}
