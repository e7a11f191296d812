export type VendorName = 'bedrock' | 'vertex' | 'gemini' | 'mistral';

/** What a vendor takes and gives, as far as its package leaves that to us. */
export interface Dialect {
  readonly name: VendorName;
  /** Under which the vendor's package takes options and gives metadata. */
  readonly namespace: string;
  /** Whether files of that type can be sent to it. */
  takesFile(mediaType: string): boolean;
  /** Whether it fetches what is at that address itself. */
  fetches(url: URL): boolean;
  /** Whether files can stand in the result of a tool. */
  readonly takesFilesOfTools: boolean;
  /** Whether calls and results may stand in a conversation although no tool is offered. */
  readonly keepsCallsWithoutTools: boolean;
  /** How it takes back what it thought: signed blocks, plain text, or a signature beside calls and text. */
  readonly thoughts: 'signed' | 'plain' | 'signature';
  /** What the id of a call must look like. */
  readonly callId: RegExp;
}

const onTheWeb: ReadonlySet<string> = new Set(['http:', 'https:']);
const imageTypes = /^image\/(png|jpeg|gif|webp)$/;
/** Of the Converse API: images, documents, videos. */
// Pattern bound: joins the literals below, which have no repetition.
const converseTypes = new RegExp(
  [
    imageTypes.source,
    /^application\/(pdf|msword|vnd\.openxmlformats-officedocument\.(wordprocessingml\.document|spreadsheetml\.sheet)|vnd\.ms-excel)$/
      .source,
    /^text\/(plain|csv|html|markdown)$/.source,
    /^video\/(mp4|webm|quicktime|x-matroska|x-flv|mpeg|x-ms-wmv|3gpp)$/.source,
  ].join('|'),
);

const google = {
  takesFile: () => true,
  fetches: ({ protocol }: URL) => onTheWeb.has(protocol) || protocol === 'gs:',
  takesFilesOfTools: true,
  keepsCallsWithoutTools: true,
  thoughts: 'signature',
  callId: /^.+$/s,
} as const;

export const dialects: Readonly<Record<VendorName, Dialect>> = {
  gemini: { ...google, name: 'gemini', namespace: 'google' },
  vertex: { ...google, name: 'vertex', namespace: 'googleVertex' },
  bedrock: {
    name: 'bedrock',
    namespace: 'amazonBedrock',
    takesFile: (mediaType) => converseTypes.test(mediaType),
    fetches: ({ protocol }) => protocol === 's3:',
    takesFilesOfTools: true,
    keepsCallsWithoutTools: false,
    thoughts: 'signed',
    callId: /^[a-zA-Z0-9_-]{1,64}$/,
  },
  mistral: {
    name: 'mistral',
    namespace: 'mistral',
    takesFile: (mediaType) => imageTypes.test(mediaType) || mediaType === 'application/pdf',
    fetches: ({ protocol }) => onTheWeb.has(protocol),
    takesFilesOfTools: false,
    keepsCallsWithoutTools: true,
    thoughts: 'plain',
    callId: /^[a-zA-Z0-9]{9}$/,
  },
};
