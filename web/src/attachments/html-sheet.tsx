import { useEffect, useRef } from 'react';

/** HTML in a frame without an origin, where no script of it runs and nothing is loaded (see sheetPolicy of the service). */
export function HtmlSheet({ html, title }: { readonly html: string; readonly title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const hand = ({ source, data }: MessageEvent): void => {
      const sheet = frame.current?.contentWindow;
      if (data === 'sheet-ready' && sheet != null && source === sheet) sheet.postMessage(html, '*');
    };
    addEventListener('message', hand);
    return () => removeEventListener('message', hand);
  }, [html]);
  return (
    <iframe
      ref={frame}
      className="attachment-frame"
      src="./sheet.html"
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      title={title}
      key={html}
    />
  );
}
