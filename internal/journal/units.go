package journal

import "strings"

// dimension is what a unit measures; units of one dimension convert by a factor.
type dimension uint8

const (
	noDimension dimension = iota
	power
	energy
	voltage
	current
	apparent
	reactive
	temperature
	light
	percent
	fraction // parts of a million
	concentration
	pressure
	speed
	frequency
	length
	volume
	flow
	dataRate
	dataSize
	irradiance
	sound
	radio
	duration
	mass
	rain
)

// unitOf gives the dimension of a unit of measurement as Home Assistant writes
// it, and how much of the dimension's base one of it is. A temperature's factor
// is that of a difference. Unknown units have no dimension and factor 1.
func unitOf(u string) (dimension, float64) {
	switch u {
	case "mW":
		return power, 1e-3
	case "W":
		return power, 1
	case "kW":
		return power, 1e3
	case "MW":
		return power, 1e6
	case "GW":
		return power, 1e9
	case "TW":
		return power, 1e12
	case "BTU/h":
		return power, 0.29307107
	case "mWh":
		return energy, 1e-6
	case "Wh":
		return energy, 1e-3
	case "kWh":
		return energy, 1
	case "MWh":
		return energy, 1e3
	case "GWh":
		return energy, 1e6
	case "TWh":
		return energy, 1e9
	case "J":
		return energy, 1 / 3.6e6
	case "kJ":
		return energy, 1 / 3.6e3
	case "MJ":
		return energy, 1 / 3.6
	case "GJ":
		return energy, 1e3 / 3.6
	case "cal":
		return energy, 1.163e-6
	case "kcal":
		return energy, 1.163e-3
	case "Mcal":
		return energy, 1.163
	case "Gcal":
		return energy, 1163
	}
	return electric(u)
}

func electric(u string) (dimension, float64) {
	switch u {
	case "µV", "μV":
		return voltage, 1e-6
	case "mV":
		return voltage, 1e-3
	case "V":
		return voltage, 1
	case "kV":
		return voltage, 1e3
	case "MV":
		return voltage, 1e6
	case "mA":
		return current, 1e-3
	case "A":
		return current, 1
	case "mVA":
		return apparent, 1e-3
	case "VA":
		return apparent, 1
	case "kVA":
		return apparent, 1e3
	case "mvar":
		return reactive, 1e-3
	case "var":
		return reactive, 1
	case "kvar":
		return reactive, 1e3
	case "mHz":
		return frequency, 1e-3
	case "Hz":
		return frequency, 1
	case "kHz":
		return frequency, 1e3
	case "MHz":
		return frequency, 1e6
	case "GHz":
		return frequency, 1e9
	case "dBm", "dbm", "DBM", "lqi", "LQI":
		return radio, 1
	case "dB", "db", "DB", "dBA", "dB(A)", "dBC":
		return sound, 1
	}
	return air(u)
}

func air(u string) (dimension, float64) {
	switch u {
	case "°C", "℃", "K":
		return temperature, 1
	case "°F", "℉":
		return temperature, 5.0 / 9
	case "lx", "lux", "lm":
		return light, 1
	case "klx":
		return light, 1e3
	case "W/m²":
		return irradiance, 1
	case "BTU/(h⋅ft²)":
		return irradiance, 3.15459
	case "%":
		return percent, 1
	case "ppm":
		return fraction, 1
	case "ppb":
		return fraction, 1e-3
	case "µg/m³", "μg/m³":
		return concentration, 1
	case "mg/m³":
		return concentration, 1e3
	case "mPa":
		return pressure, 1e-5
	case "Pa":
		return pressure, 1e-2
	case "hPa", "mbar":
		return pressure, 1
	case "cbar", "kPa":
		return pressure, 10
	case "bar":
		return pressure, 1e3
	case "MPa":
		return pressure, 1e4
	case "inHg":
		return pressure, 33.8639
	case "mmHg":
		return pressure, 1.33322
	case "inH₂O":
		return pressure, 2.49089
	case "psi":
		return pressure, 68.9476
	}
	return motion(u)
}

func motion(u string) (dimension, float64) {
	switch u {
	case "m/s":
		return speed, 1
	case "mm/s":
		return speed, 1e-3
	case "km/h":
		return speed, 1 / 3.6
	case "mph":
		return speed, 0.44704
	case "kn":
		return speed, 0.514444
	case "ft/s":
		return speed, 0.3048
	case "mm":
		return length, 1e-3
	case "cm":
		return length, 1e-2
	case "m":
		return length, 1
	case "km":
		return length, 1e3
	case "in":
		return length, 0.0254
	case "ft":
		return length, 0.3048
	case "yd":
		return length, 0.9144
	case "mi":
		return length, 1609.344
	case "mm/h":
		return rain, 1
	case "mm/d":
		return rain, 1.0 / 24
	case "in/h":
		return rain, 25.4
	case "in/d":
		return rain, 25.4 / 24
	case "g":
		return mass, 1e-3
	case "kg":
		return mass, 1
	case "lb":
		return mass, 0.45359237
	case "oz":
		return mass, 0.02834952
	case "ms":
		return duration, 1e-3
	case "s":
		return duration, 1
	case "min":
		return duration, 60
	case "h":
		return duration, 3600
	case "d":
		return duration, 86400
	}
	return volumes(u)
}

func volumes(u string) (dimension, float64) {
	switch u {
	case "mL":
		return volume, 1e-6
	case "L":
		return volume, 1e-3
	case "m³":
		return volume, 1
	case "ft³":
		return volume, 0.0283168
	case "CCF":
		return volume, 2.83168
	case "gal":
		return volume, 0.00378541
	case "L/min":
		return flow, 1
	case "L/h":
		return flow, 1.0 / 60
	case "L/s":
		return flow, 60
	case "mL/s":
		return flow, 0.06
	case "m³/h":
		return flow, 1000.0 / 60
	case "m³/s":
		return flow, 60000
	case "gal/min":
		return flow, 3.78541
	}
	return data(u)
}

// data are amounts of data, and of data in a second.
func data(u string) (dimension, float64) {
	amount, perSecond := strings.CutSuffix(u, "/s")
	of := dataSize
	if perSecond {
		of = dataRate
	}
	switch amount {
	case "bit":
		return of, 1.0 / 8
	case "kbit":
		return of, 1e3 / 8
	case "Mbit":
		return of, 1e6 / 8
	case "Gbit":
		return of, 1e9 / 8
	case "B":
		return of, 1
	case "kB":
		return of, 1e3
	case "MB":
		return of, 1e6
	case "GB":
		return of, 1e9
	case "TB":
		return of, 1e12
	case "KiB":
		return of, 1 << 10
	case "MiB":
		return of, 1 << 20
	case "GiB":
		return of, 1 << 30
	case "TiB":
		return of, 1 << 40
	}
	return noDimension, 1
}
