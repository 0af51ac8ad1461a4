/** The upper halves of the code pages of DOS, which some bookkeeping programs still write and `TextDecoder` lacks. */
const PAGES: Readonly<Record<string, string>> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐' +
    '└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
};
const ALIASES: Readonly<Record<string, string>> = {
  ibm437: 'cp437',
  ibm850: 'cp850',
  ibm852: 'cp852',
  cp858: 'cp850',
  ibm858: 'cp850',
};

export interface Decoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}

const findPage = (encoding: string): string | undefined => {
  const name = encoding.toLowerCase().replace(/[-_ ]/g, '');
  return PAGES[ALIASES[name] ?? name];
};

/** A decoder of any encoding that files are read in; throws if there is none of that name. */
export function openDecoder(encoding: string): Decoder {
  const page = findPage(encoding);
  if (page === undefined) return new TextDecoder(encoding);
  const letters = [...page];
  return {
    decode: (bytes = new Uint8Array()) =>
      Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : letters[byte - 0x80])).join(''),
  };
}
