import { useState } from 'react';
import { StoredFileButton } from '../../files/stored-file-button.tsx';
import type { StoredItem } from '../../files/stored-files.ts';
import { FileButton } from '../../parts/device-files.tsx';
import { TextButton } from '../../parts/icon.tsx';
import { usePage } from '../../shell/page.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import type { BuilderForm } from './form.ts';
import { FieldGroup } from './frame.tsx';

const path = ['iconUrl'];
/** Maximum length of `iconUrl` that the service accepts. */
const maxUrlChars = 8192;

interface PictureEditorProps {
  readonly value: unknown;
  readonly form: BuilderForm;
}

/** Stores a small copy of an image in the application, so that its users need no access to a file. */
export function PictureEditor({ value, form }: PictureEditorProps) {
  const strings = useBuilderStrings();
  const { service } = usePage();
  const [isUnreadable, setIsUnreadable] = useState(false);
  const choose = async (file: Blob): Promise<void> => {
    const picture = await toPicture(file).catch(() => undefined);
    setIsUnreadable(picture === undefined);
    if (picture !== undefined) form.change(path, picture);
  };
  const chooseStored = async ([item]: readonly StoredItem[]): Promise<void> => {
    if (item !== undefined) await choose(await (await service.sendReference(item.reference)).blob());
  };
  const findRejection = ({ type = '' }: StoredItem): string | undefined =>
    type.startsWith('image/') ? undefined : strings.notPictureType;
  return (
    <FieldGroup {...{ form, path, className: 'builder-list', label: strings.iconUrl, hint: strings.iconUrlHint }}>
      <div className="row">
        {typeof value === 'string' &&
          (value.startsWith('data:') ? (
            <img className="avatar large" src={value} alt="" />
          ) : (
            <code className="small">{value}</code>
          ))}
        <FileButton
          {...{ label: strings.choosePicture, className: 'button slim', accept: 'image/*' }}
          onFile={(file) => void choose(file)}
        />
        <StoredFileButton {...{ className: 'button slim', select: chooseStored, findRejection, isSingle: true }} />
        {value !== undefined && (
          <TextButton className="button slim" onClick={() => form.change(path, undefined)}>
            {strings.removePicture}
          </TextButton>
        )}
      </div>
      <p className="error-text" role="alert">
        {isUnreadable && strings.notAPicture}
      </p>
    </FieldGroup>
  );
}

/**
 * Crops an image to its central square, and returns it as the largest data URL that the service accepts. Returns undefined if
 * every size is too long. Rejects if the browser cannot read the image.
 */
async function toPicture(file: Blob): Promise<string | undefined> {
  const image = new Image();
  image.src = URL.createObjectURL(file);
  await image.decode().finally(() => URL.revokeObjectURL(image.src));
  const { naturalWidth: width, naturalHeight: height } = image;
  const side = Math.min(width, height);
  for (const size of [128, 96, 64, 32]) {
    const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size });
    canvas.getContext('2d')?.drawImage(image, (width - side) / 2, (height - side) / 2, side, side, 0, 0, size, size);
    const url = canvas.toDataURL('image/webp');
    if (url.length <= maxUrlChars) return url;
  }
  return undefined;
}
