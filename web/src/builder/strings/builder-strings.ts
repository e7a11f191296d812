import { useLocalizedStrings } from '../../strings/strings.tsx';
import { type BuilderStrings, builderEnglish } from './builder-english.ts';
import { builderFrench } from './builder-french.ts';
import { builderGerman } from './builder-german.ts';
import { builderSpanish } from './builder-spanish.ts';

/** Texts of the builder, in a separate chunk that only the builder loads. */
export function useBuilderStrings(): BuilderStrings {
  return useLocalizedStrings({ en: builderEnglish, de: builderGerman, fr: builderFrench, es: builderSpanish });
}
