import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { Attachment } from '#contract/chat/message.ts';
import { usePage } from '../../page/page.tsx';
import { attachFile } from '../../service/attach-file.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';

/** A file that is uploaded for the next message. */
export interface Upload {
  readonly id: string;
  readonly name: string;
  /** Fraction from 0 to 1. */
  readonly share: number;
  readonly attachment?: Attachment;
  readonly error?: ErrorDetails;
}

interface UploadsState {
  readonly uploads: readonly Upload[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (id: string) => void;
  readonly clear: () => void;
  /** Adds attachments that were uploaded earlier. */
  readonly restore: (attachments: readonly Attachment[]) => void;
  readonly isUploading: boolean;
  readonly ready: readonly Attachment[];
}

/** Files of the message being written. */
export function useUploads(): UploadsState {
  const { service, isTemporary = false } = usePage();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<string, AbortController>());
  useEffect(() => {
    const all = running.current;
    return () => {
      for (const controller of all.values()) controller.abort();
    };
  }, []);
  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      const id = crypto.randomUUID();
      const controller = new AbortController();
      const change = (part: Partial<Upload>): void => {
        if (!controller.signal.aborted)
          setUploads((now) => now.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
      };
      running.current.set(id, controller);
      setUploads((now) => [...now, { id, name: file.name, share: 0 }]);
      attachFile(service, file, { onProgress: (share) => change({ share }), signal: controller.signal, isTemporary }).then(
        (attachment) => change({ attachment, share: 1 }),
        (error: unknown) => change({ error: toErrorDetails(error) }),
      );
    }
  };
  const remove = (id: string): void => {
    running.current.get(id)?.abort();
    running.current.delete(id);
    setUploads((now) => now.filter((upload) => upload.id !== id));
  };
  const restore = (attachments: readonly Attachment[]): void => {
    const again = attachments.map((attachment) => ({
      ...{ id: crypto.randomUUID(), name: attachment.title ?? '', share: 1, attachment },
    }));
    setUploads((now) => [...again, ...now]);
  };
  const ready = useMemo(() => uploads.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment])), [uploads]);
  const isUploading = uploads.some(({ attachment, error }) => attachment === undefined && error === undefined);
  return { uploads, add, remove, clear: () => setUploads([]), restore, isUploading, ready };
}

/**
 * Accepts files that are dropped on a part of the page without its own drop target. Returns true while files are dragged over the
 * page.
 */
export function useFileDrop(add: (files: Iterable<File>) => void): boolean {
  const [isDraggingOver, setIsDraggingOver] = useState(false);
  const addFiles = useEffectEvent(add);
  useEffect(() => {
    const onDragOver = (event: DragEvent): void => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      setIsDraggingOver(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setIsDraggingOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      setIsDraggingOver(false);
      if (event.defaultPrevented || event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      addFiles(event.dataTransfer.files);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('dragleave', onDragLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('dragleave', onDragLeave);
      removeEventListener('drop', onDrop);
    };
  }, []);
  return isDraggingOver;
}
