/** What this device is called in lists that its owner sees. Pure. */

/** The order matters: most say that they are Chrome and Safari as well. */
const BROWSERS: readonly [RegExp, string][] = [
  [/Edg(A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/Web0S|WebOS|SMART-TV|Tizen|HbbTV|BRAVIA|AFT[A-Z]/i, 'TV'],
  [/Android/, 'Android'],
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'Mac'],
  [/CrOS/, 'Chromebook'],
  [/Linux/, 'Linux'],
];

/** `Firefox, Android`, from what the browser says of itself; empty when it says nothing that is known. */
export function deviceName(userAgent: string): string {
  const of = (all: readonly [RegExp, string][]): string[] => {
    const found = all.find(([says]) => says.test(userAgent));
    return found ? [found[1]] : [];
  };
  return [...of(BROWSERS), ...of(SYSTEMS)].join(', ');
}
