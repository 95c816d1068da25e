// A test earns coverage only for the file of lib/ that it mirrors; tests of behaviour earn none.
const behaviour = /^test\/(spec|cases|clients|fixture|types|issues|support|asking)\/|^test\/(arrows|docs|auth\/(?:crossing|flows|matrix|staying)|cluster\/(?:across|chaos|outage|processes|sessions|trouble))\.test/
const contract = ['stores/memory', 'stores/redis', 'brokers/memory', 'brokers/redis'].map(name => `lib/${name}.ts`)
export default test => behaviour.test(test) ? null : test === 'test/stores/contract.test.ts' ? contract : test.replace(/^test\//, 'lib/').replace(/\.test\.ts$/, '.ts')
