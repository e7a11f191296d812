export interface PdfLine {
  readonly text: string;
  /** Font size in points. */
  readonly size: number;
}

const leading = 1.35;
const top = 790;
const left = 56;
const notLatin = /[^\x20-\x7e]/g;

/** Creates a PDF with these lines on its pages in Helvetica. An empty text leaves a gap. */
export function makePdf(pages: readonly (readonly PdfLine[])[]): Uint8Array<ArrayBuffer> {
  const objects: string[] = ['<< /Type /Catalog /Pages 2 0 R >>', '', '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'];
  const kids: string[] = [];
  for (const lines of pages) {
    const content = toContent(lines);
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${objects.length} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    );
    kids.push(`${objects.length} 0 R`);
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`;
  return toFile(objects);
}

function toContent(lines: readonly PdfLine[]): string {
  let y = top;
  const operators = lines.map(({ text, size }) => {
    y -= size * leading;
    return text === '' ? '' : `BT /F1 ${size} Tf 1 0 0 1 ${left} ${y.toFixed(1)} Tm (${toPdfText(text)}) Tj ET`;
  });
  return operators.filter(Boolean).join('\n');
}

function toPdfText(text: string): string {
  return text.replace(notLatin, '?').replace(/[\\()]/g, '\\$&');
}

function toFile(objects: readonly string[]): Uint8Array<ArrayBuffer> {
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}
