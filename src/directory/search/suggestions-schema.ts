import { z } from 'zod';

export const Suggestion = z
  .object({
    parameter: z.string().describe('Parameter that finds nobody.').meta({ example: 'q' }),
    value: z.string().describe('Its value as sent.').meta({ example: 'vegn' }),
    instead: z
      .string()
      .nullable()
      .describe('Value that finds somebody; null: the search without this parameter.')
      .meta({ example: 'vegan' }),
    total: z.number().int().describe('Creators that this search finds.').meta({ example: 120 }),
  })
  .meta({ id: 'SearchSuggestion' });
export type Suggestion = z.infer<typeof Suggestion>;
