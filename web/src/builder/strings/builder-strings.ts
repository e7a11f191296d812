import { builderGerman } from '../../locales/de/builder.ts';
import { type BuilderStrings, builderEnglish } from '../../locales/en/builder.ts';
import { builderSpanish } from '../../locales/es/builder.ts';
import { builderFrench } from '../../locales/fr/builder.ts';
import { useLocalizedStrings } from '../../strings/strings.tsx';

/** Texts of the builder, in a separate chunk that only the builder loads. */
export function useBuilderStrings(): BuilderStrings {
  return useLocalizedStrings({ en: builderEnglish, de: builderGerman, fr: builderFrench, es: builderSpanish });
}
