import { useEffect, useRef } from 'react';
import './attachments.css';

/** Shows HTML in a frame without an origin, where no scripts run and no content is loaded (see `sheetPolicy` of the service). */
export function HtmlSheet({ html, title }: { readonly html: string; readonly title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const sendHtml = ({ source, data }: MessageEvent): void => {
      const sheet = frame.current?.contentWindow;
      if (data === 'sheet-ready' && sheet != null && source === sheet) sheet.postMessage(html, '*');
    };
    addEventListener('message', sendHtml);
    return () => removeEventListener('message', sendHtml);
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
