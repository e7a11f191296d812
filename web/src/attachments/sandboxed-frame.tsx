import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { useStrings } from '../strings/strings.tsx';
import './attachments.css';

interface FrameProps {
  readonly text: string;
  readonly title: string;
}

/** Shows HTML in a frame without an origin, where no scripts run and no content is loaded (see `sheetPolicy` of the service). */
export function HtmlFrame(props: FrameProps) {
  const strings = useStrings();
  return (
    <>
      <p className="soft small sheet-note">{strings.sheetNote}</p>
      <SandboxedFrame {...props} className="attachment-frame" src="./sheet.html" />
    </>
  );
}

const maxDiagramHeight = 4000;

/** Draws Mermaid source in a frame like that of `HtmlFrame`, whose own script runs. `onInvalid` is called if the source is invalid. */
export function DiagramFrame({ onInvalid, ...props }: FrameProps & { readonly onInvalid: () => void }) {
  const [src] = useState(() => (isDarkPage() ? './diagram.html#dark' : './diagram.html'));
  const [height, setHeight] = useState<number>();
  const onMessage = (data: unknown): void => {
    const newHeight = isJsonObject(data) ? data.diagramHeight : undefined;
    if (newHeight === 0) onInvalid();
    else if (typeof newHeight === 'number') setHeight(Math.min(newHeight, maxDiagramHeight));
  };
  return <SandboxedFrame {...{ ...props, className: 'attachment-frame diagram', src, height, onMessage }} />;
}

/** Whether the page is dark, by its setting or by that of the system. */
function isDarkPage(): boolean {
  const { colorScheme } = getComputedStyle(document.documentElement);
  return colorScheme === 'dark' || (colorScheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}

interface SandboxedFrameProps extends FrameProps {
  readonly className: string;
  readonly src: string;
  readonly height?: number | undefined;
  readonly onMessage?: (data: unknown) => void;
}

/** A frame that requests its text with a message. */
function SandboxedFrame({ text, title, className, src, height, onMessage }: SandboxedFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const receive = useEffectEvent((data: unknown) => {
    if (data === 'sheet-ready') frame.current?.contentWindow?.postMessage(text, '*');
    else onMessage?.(data);
  });
  useEffect(() => {
    const onWindowMessage = ({ source, data }: MessageEvent): void => {
      if (source !== null && source === frame.current?.contentWindow) receive(data);
    };
    addEventListener('message', onWindowMessage);
    return () => removeEventListener('message', onWindowMessage);
  }, []);
  return (
    <iframe
      {...{ ref: frame, className, src, title, sandbox: 'allow-scripts', key: text }}
      referrerPolicy="no-referrer"
      style={height === undefined ? undefined : { height }}
    />
  );
}
