import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { isAcceptedType } from '#base/http/media-type.ts';
import type { Attachment } from '#contract/chat/message.ts';
import { attachFile, getFileType } from '../../service/attach-file.ts';
import type { Deployment } from '../../service/deployments.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { usePage } from '../../shell/page.tsx';

/** A file that is uploaded for the next message. */
export interface Upload {
  readonly id: string;
  readonly name: string;
  /** MIME type. */
  readonly type: string;
  /** Uploaded fraction, from 0 to 1. */
  readonly progress: number;
  readonly attachment?: Attachment;
  readonly error?: ErrorDetails;
  /** Set if the recipient of the message does not accept the file. */
  readonly rejection?: FileRejection;
}

/** Why a deployment does not accept a file: its type, or the number of files. */
export interface FileRejection {
  readonly deployment: Deployment;
  readonly reason: 'type' | 'count';
}

interface UploadsState {
  readonly uploads: readonly Upload[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (id: string) => void;
  readonly clear: () => void;
  /** Adds attachments that were uploaded earlier. */
  readonly restore: (attachments: readonly Attachment[]) => void;
  /** Whether the message must wait for a file, or for the removal of one that cannot be sent. */
  readonly isBlocked: boolean;
  /** Whether the message only waits for uploads in progress. */
  readonly isUploading: boolean;
  readonly readyAttachments: readonly Attachment[];
}

/** Files of the message being written, for these recipients. */
export function useUploads(recipients: readonly Deployment[], initial: readonly Attachment[] = []): UploadsState {
  const { service, isTemporary = false } = usePage();
  const [allUploads, setUploads] = useState(() => initial.map(toUpload));
  const controllers = useRef(new Map<string, AbortController>());
  useEffect(() => {
    const all = controllers.current;
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
          setUploads((current) => current.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
      };
      controllers.current.set(id, controller);
      setUploads((current) => [...current, { id, name: file.name, type: getFileType(file), progress: 0 }]);
      attachFile(service, file, { onProgress: (progress) => change({ progress }), signal: controller.signal, isTemporary }).then(
        (attachment) => change({ attachment, progress: 1 }),
        (error: unknown) => change({ error: toErrorDetails(error) }),
      );
    }
  };
  const remove = (id: string): void => {
    controllers.current.get(id)?.abort();
    controllers.current.delete(id);
    setUploads((current) => current.filter((upload) => upload.id !== id));
  };
  const restore = (attachments: readonly Attachment[]): void => {
    setUploads((current) => [...attachments.map(toUpload), ...current]);
  };
  const uploads = withRejections(allUploads, recipients);
  const readyAttachments = useMemo(
    () => allUploads.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment])),
    [allUploads],
  );
  const isBlocked = uploads.some(({ attachment, rejection }) => attachment === undefined || rejection !== undefined);
  const isUploading = isBlocked && uploads.every(({ error, rejection }) => error === undefined && rejection === undefined);
  return { uploads, add, remove, clear: () => setUploads([]), restore, isBlocked, isUploading, readyAttachments };
}

function toUpload(attachment: Attachment): Upload {
  const { title: name = '', type = 'text/markdown' } = attachment;
  return { id: crypto.randomUUID(), name, type, progress: 1, attachment };
}

/** Checks files as the service will: the types, and the number. Files that cannot be sent anyway do not count. */
export function withRejections(uploads: readonly Upload[], recipients: readonly Deployment[]): readonly Upload[] {
  let count = 0;
  return uploads.map((upload) => {
    const rejection = findRejection(upload.type, count, recipients);
    if (rejection !== undefined) return { ...upload, rejection };
    if (upload.error === undefined) count += 1;
    return upload;
  });
}

/** Returns why a recipient does not accept a file, if any. `count` is the number of files before it. */
function findRejection(type: string, count: number, recipients: readonly Deployment[]): FileRejection | undefined {
  for (const deployment of recipients) {
    const { attachmentTypes, maxAttachments = Number.POSITIVE_INFINITY } = deployment;
    if (attachmentTypes !== undefined && !isAcceptedType(type, attachmentTypes)) return { deployment, reason: 'type' };
    if (count >= maxAttachments) return { deployment, reason: 'count' };
  }
  return undefined;
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
