import { expectTypeOf, test } from 'vitest';
import type { CallOf, OperationId } from '../../../src/interfaces/nouns.ts';

test('An operation keeps its types: requests and answers of a client are checked against the declaration', () => {
  expectTypeOf<CallOf<'create_campaign'>['body']['name']>().toEqualTypeOf<string>();
  expectTypeOf<CallOf<'create_campaign'>['body']['status']>().toEqualTypeOf<
    'active' | 'draft' | 'paused' | 'completed' | undefined
  >();
  expectTypeOf<CallOf<'create_campaign'>['answer']['data']['id']>().toEqualTypeOf<string>();
  expectTypeOf<CallOf<'get_campaign'>['params']>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<CallOf<'list_directory_metros'>['query']['limit']>().toEqualTypeOf<string | number | undefined>();
  expectTypeOf<CallOf<'search_creators'>['query']['has_email']>().toEqualTypeOf<
    'true' | 'false' | boolean | undefined
  >();
  expectTypeOf<'no_such_operation'>().not.toExtend<OperationId>();
});
