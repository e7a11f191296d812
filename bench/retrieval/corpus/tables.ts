import { Dice, type Paper, type Table } from './paper.ts';

const people = [
  'Amara Okafor',
  'Bjorn Lindqvist',
  'Chiara Rossi',
  'Deepak Menon',
  'Elif Kaya',
  'Farid Haddad',
  'Greta Novak',
  'Hugo Martin',
  'Ines Duarte',
  'Jonas Weber',
  'Kaoru Tanaka',
  'Lena Fischer',
  'Mateo Cruz',
  'Nadia Petrova',
  'Oskar Lund',
  'Priya Nair',
  'Quentin Moreau',
  'Rosa Jimenez',
  'Sven Berg',
  'Tara Quinn',
  'Umar Sheikh',
  'Vera Kovac',
  'Wim de Boer',
  'Xenia Pappas',
  'Yusuf Demir',
  'Zoe Clarke',
];
const towns = [
  'Antwerp',
  'Bilbao',
  'Cork',
  'Dresden',
  'Espoo',
  'Florence',
  'Gdansk',
  'Halmstad',
  'Innsbruck',
  'Jena',
  'Kaunas',
  'Lyon',
];
const goods = [
  'pump seal',
  'drive belt',
  'door hinge',
  'filter mat',
  'valve stem',
  'heating rod',
  'fan wheel',
  'control board',
  'cable loom',
  'spray arm',
  'brush head',
  'lock latch',
  'drum paddle',
  'float switch',
  'lamp socket',
  'hose clamp',
];
const materials = ['steel', 'brass', 'nylon', 'silicone', 'ceramic', 'copper'];
const letters = 'ABCDEFGHKLMNPRSTVWX';

/** Creates long tables, mostly of spare parts, people, and shipments with codes. */
export function createTables(): Paper[] {
  const dice = new Dice(20_261_121);
  return [
    createSheet('spare-parts.csv', 'Spare parts', [['Parts', createPartsTable(dice, 120)]]),
    createSheet('shipments.csv', 'Shipments', [['Shipments', createShipmentsTable(dice, 100)]]),
    createSheet('on-call.csv', 'On-call rota', [['Rota', createRotaTable(dice)]]),
    createSheet('sensor-log.csv', 'Sensor log', [['Log', createSensorTable(dice, 90)]]),
    createSheet('price-list.xlsx', 'Price list', [
      ['Machines', createMachinesTable()],
      ['Services', createServicesTable()],
      ['Discounts', createDiscountsTable()],
    ]),
    createSheet('staff-directory.xlsx', 'Staff directory', [
      ['Engineering', createStaffTable(dice, 0, 13)],
      ['Operations', createStaffTable(dice, 13, 26)],
    ]),
    createSheet('inventory.xlsx', 'Inventory', [
      ['House 2', createInventoryTable(dice, 45)],
      ['House 5', createInventoryTable(dice, 45)],
    ]),
  ];
}

function createSheet(file: string, title: string, pages: readonly (readonly [string, Table])[]): Paper {
  return { file, title, parts: pages.map(([heading, table]) => ({ heading, table })) };
}

function toCode(dice: Dice, shape: string): string {
  return shape.replace(/[A#]/g, (sign) => (sign === 'A' ? dice.pick([...letters]) : `${dice.below(10)}`));
}

function createPartsTable(dice: Dice, count: number): Table {
  const rows = Array.from({ length: count }, () => [
    toCode(dice, 'AA-####/a').replace('a', dice.pick(['x', 'y', 'z'])),
    `${dice.pick(materials)} ${dice.pick(goods)}`,
    `${2 + dice.below(90)}.${10 + dice.below(89)}`,
    `${dice.below(400)}`,
    `shelf ${toCode(dice, 'A##')}`,
  ]);
  return { header: ['Part number', 'Name', 'Price EUR', 'In stock', 'Place'], rows };
}

function createShipmentsTable(dice: Dice, count: number): Table {
  const rows = Array.from({ length: count }, () => [
    toCode(dice, 'SHP#######'),
    dice.pick(towns),
    dice.pick(['delivered', 'in transit', 'held at customs', 'returned to sender', 'waiting for pick-up']),
    `2026-${String(1 + dice.below(9)).padStart(2, '0')}-${10 + dice.below(18)}`,
    `${1 + dice.below(60)} kg`,
  ]);
  return { header: ['Shipment', 'Destination', 'Status', 'Last scan', 'Weight'], rows };
}

function createRotaTable(dice: Dice): Table {
  const rows = Array.from({ length: 40 }, (_, week) => [
    `week ${week + 1}`,
    dice.pick(people),
    dice.pick(people),
    `+31 20 55 ${10 + dice.below(89)} ${10 + dice.below(89)}`,
  ]);
  return { header: ['Calendar week', 'First on call', 'Stand-in', 'Phone'], rows };
}

function createSensorTable(dice: Dice, count: number): Table {
  const rows = Array.from({ length: count }, (_, index) => [
    toCode(dice, 'TS-A###'),
    `hall ${1 + dice.below(8)}`,
    `${15 + dice.below(20)}.${dice.below(10)}`,
    `${30 + dice.below(40)}`,
    index % 17 === 5 ? 'door left open' : index % 23 === 7 ? 'battery low' : 'normal',
  ]);
  return { header: ['Sensor', 'Hall', 'Temperature C', 'Humidity percent', 'Remark'], rows };
}

function createMachinesTable(): Table {
  const rows = [
    ['Aurora C200', 'coffee machine', '649'],
    ['Borealis D90', 'dishwasher', '789'],
    ['Cirrus H15', 'humidifier', '129'],
    ['Dorado P400', 'laser printer', '239'],
    ['Elara V8', 'vacuum robot', '459'],
    ['Fornax O60', 'oven', '1099'],
    ['Gemini W12', 'washing machine', '699'],
    ['Helix R3', 'router', '179'],
  ];
  return { header: ['Model', 'Kind', 'Price EUR'], rows };
}

function createServicesTable(): Table {
  const rows = [
    ['Visit of a technician', 'first hour', '95'],
    ['Visit of a technician', 'each further half hour', '35'],
    ['Delivery to the kerb', 'flat', '29'],
    ['Delivery to the flat and connection', 'flat', '69'],
    ['Taking away the old device', 'flat', '15'],
    ['Extended guarantee', 'two more years', '89'],
    ['Express repair', 'surcharge', '120'],
  ];
  return { header: ['Service', 'Unit', 'Price EUR'], rows };
}

function createDiscountsTable(): Table {
  const rows = [
    ['Schools and kindergartens', '18 percent'],
    ['Staff and pensioners', '25 percent'],
    ['Orders of ten or more', '12 percent'],
    ['Exhibition pieces', '30 percent'],
    ['Returning customers', '5 percent'],
  ];
  return { header: ['Who', 'Reduction'], rows };
}

function createStaffTable(dice: Dice, from: number, to: number): Table {
  const jobs = [
    'test engineer',
    'electrician',
    'site manager',
    'data analyst',
    'buyer',
    'trainer',
    'web developer',
    'quality inspector',
    'fork lift driver',
    'lawyer',
    'designer',
    'receptionist',
    'chemist',
  ];
  const rows = people
    .slice(from, to)
    .map((name, index) => [
      name,
      jobs[index % jobs.length] ?? '',
      `room ${1 + dice.below(5)}.${100 + dice.below(80)}`,
      `${4000 + dice.below(900)}`,
      dice.pick(towns),
    ]);
  return { header: ['Name', 'Job', 'Room', 'Extension', 'Lives in'], rows };
}

function createInventoryTable(dice: Dice, count: number): Table {
  const things = [
    'oscilloscope',
    'label printer',
    'pallet truck',
    'soldering station',
    'projector',
    'microscope',
    'drill press',
    'label scanner',
    'gas detector',
    'thermal camera',
    'torque wrench',
    'air compressor',
  ];
  const rows = Array.from({ length: count }, () => [
    toCode(dice, 'INV.##.A###'),
    dice.pick(things),
    dice.pick(['in use', 'in repair', 'lent out', 'to be scrapped']),
    `20${17 + dice.below(9)}`,
    dice.pick(people),
  ]);
  return { header: ['Tag', 'Thing', 'State', 'Bought', 'Keeper'], rows };
}
