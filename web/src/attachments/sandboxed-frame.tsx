import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { useStrings } from '../strings/strings.tsx';
import './attachments.css';

/** Returns the storage key that marks content. It contains a checksum instead of the content, which belongs to the user. */
function getMark(content: string): string {
  const checksum = [...content.slice(-1000)].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1e9, 0);
  return `parley drawing ${content.length} ${checksum}`;
}

/**
 * Whether the page ended while it drew the content, possibly because the content froze it. The page then draws the content only
 * after a click.
 */
export const wasInterrupted = (content: string): boolean => localStorage.getItem(getMark(content)) !== null;

/** Marks content until the returned function is called. A frame or a picture can freeze the page that shows it. */
export function useDrawingMark(content: string): () => void {
  const mark = getMark(content);
  useLayoutEffect(() => {
    try {
      localStorage.setItem(mark, '');
    } catch {
      // The storage is full. The content is drawn without a mark.
    }
    return () => localStorage.removeItem(mark);
  }, [mark]);
  return () => localStorage.removeItem(mark);
}

interface FrameProps {
  readonly text: string;
  readonly title: string;
}

/** Shows HTML in a frame without an origin, where no scripts run and no content is loaded (see `framePolicy` of the service). */
export function HtmlFrame(props: FrameProps) {
  const strings = useStrings();
  return (
    <>
      <p className="soft small frame-note">{strings.htmlNote}</p>
      <SandboxedFrame {...props} className="sandboxed-frame html" src="./sheet.html" />
    </>
  );
}

/** Draws Mermaid source with a script of this page, in a frame without an origin. Calls `onInvalid` if the source is invalid. */
export function DiagramFrame(props: FrameProps & { readonly onInvalid: () => void }) {
  const [src] = useState(() => (isDarkPage() ? './diagram.html#dark' : './diagram.html'));
  return <SandboxedFrame {...props} className="sandboxed-frame diagram" src={src} />;
}

/** Whether the page is dark, by the setting of the user or of the system. */
function isDarkPage(): boolean {
  const { colorScheme } = getComputedStyle(document.documentElement);
  return colorScheme === 'dark' || (colorScheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}

interface SandboxedFrameProps extends FrameProps {
  readonly className: string;
  readonly src: string;
  readonly onInvalid?: () => void;
}

const maxHeight = 4000;

/**
 * A frame that requests its text with a message, and then sends the height of its content, or 0 if the text is invalid. Untrusted
 * content can send any message. After the first height the frame only grows, so that content cannot move the page forever.
 */
function SandboxedFrame({ text, title, className, src, onInvalid }: SandboxedFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState<number>();
  const removeMark = useDrawingMark(text);
  const receive = useEffectEvent((data: unknown) => {
    if (data === 'sheet-ready') return frame.current?.contentWindow?.postMessage(text, '*');
    removeMark();
    if (data === 0) onInvalid?.();
    else if (typeof data === 'number' && data > 0)
      setHeight((current = 0) => Math.max(current, Math.min(Math.ceil(data), maxHeight)));
  });
  useEffect(() => {
    const onWindowMessage = ({ source, data }: MessageEvent): void => {
      if (source !== null && source === frame.current?.contentWindow) receive(data);
    };
    addEventListener('message', onWindowMessage);
    return () => removeEventListener('message', onWindowMessage);
  }, []);
  return (
    <div className={height === undefined ? `${className} measuring` : className} style={{ height }}>
      <iframe
        {...{ ref: frame, className: 'attachment-frame', src, title, sandbox: 'allow-scripts', key: text }}
        referrerPolicy="no-referrer"
      />
    </div>
  );
}
