//! The countries' names, for sentences.

/// A country's name in English; the code itself if it has none.
pub fn country_name(code: [u8; 2]) -> String {
    match NAMES.binary_search_by_key(&code, |(code, _)| *code) {
        Ok(at) => NAMES[at].1.to_owned(),
        Err(_) => String::from_utf8_lossy(&code).into_owned(),
    }
}

/// It is a code of ISO 3166-1.
pub(crate) fn is_country(code: &str) -> bool {
    <[u8; 2]>::try_from(code.as_bytes())
        .is_ok_and(|code| NAMES.binary_search_by_key(&code, |(c, _)| *c).is_ok())
}

/// ISO 3166-1 (and XK), in the order of the codes, with the names of Unicode CLDR.
#[rustfmt::skip]
const NAMES: &[([u8; 2], &str)] = &[
    (*b"AD", "Andorra"), (*b"AE", "United Arab Emirates"), (*b"AF", "Afghanistan"),
    (*b"AG", "Antigua & Barbuda"), (*b"AI", "Anguilla"), (*b"AL", "Albania"), (*b"AM", "Armenia"),
    (*b"AO", "Angola"), (*b"AQ", "Antarctica"), (*b"AR", "Argentina"), (*b"AS", "American Samoa"),
    (*b"AT", "Austria"), (*b"AU", "Australia"), (*b"AW", "Aruba"), (*b"AX", "Åland Islands"),
    (*b"AZ", "Azerbaijan"), (*b"BA", "Bosnia & Herzegovina"), (*b"BB", "Barbados"), (*b"BD", "Bangladesh"),
    (*b"BE", "Belgium"), (*b"BF", "Burkina Faso"), (*b"BG", "Bulgaria"), (*b"BH", "Bahrain"),
    (*b"BI", "Burundi"), (*b"BJ", "Benin"), (*b"BL", "St. Barthélemy"), (*b"BM", "Bermuda"),
    (*b"BN", "Brunei"), (*b"BO", "Bolivia"), (*b"BQ", "Caribbean Netherlands"), (*b"BR", "Brazil"),
    (*b"BS", "Bahamas"), (*b"BT", "Bhutan"), (*b"BV", "Bouvet Island"), (*b"BW", "Botswana"),
    (*b"BY", "Belarus"), (*b"BZ", "Belize"), (*b"CA", "Canada"), (*b"CC", "Cocos (Keeling) Islands"),
    (*b"CD", "Congo - Kinshasa"), (*b"CF", "Central African Republic"), (*b"CG", "Congo - Brazzaville"),
    (*b"CH", "Switzerland"), (*b"CI", "Côte d’Ivoire"), (*b"CK", "Cook Islands"), (*b"CL", "Chile"),
    (*b"CM", "Cameroon"), (*b"CN", "China"), (*b"CO", "Colombia"), (*b"CR", "Costa Rica"), (*b"CU", "Cuba"),
    (*b"CV", "Cape Verde"), (*b"CW", "Curaçao"), (*b"CX", "Christmas Island"), (*b"CY", "Cyprus"),
    (*b"CZ", "Czechia"), (*b"DE", "Germany"), (*b"DJ", "Djibouti"), (*b"DK", "Denmark"),
    (*b"DM", "Dominica"), (*b"DO", "Dominican Republic"), (*b"DZ", "Algeria"), (*b"EC", "Ecuador"),
    (*b"EE", "Estonia"), (*b"EG", "Egypt"), (*b"EH", "Western Sahara"), (*b"ER", "Eritrea"),
    (*b"ES", "Spain"), (*b"ET", "Ethiopia"), (*b"FI", "Finland"), (*b"FJ", "Fiji"),
    (*b"FK", "Falkland Islands"), (*b"FM", "Micronesia"), (*b"FO", "Faroe Islands"), (*b"FR", "France"),
    (*b"GA", "Gabon"), (*b"GB", "United Kingdom"), (*b"GD", "Grenada"), (*b"GE", "Georgia"),
    (*b"GF", "French Guiana"), (*b"GG", "Guernsey"), (*b"GH", "Ghana"), (*b"GI", "Gibraltar"),
    (*b"GL", "Greenland"), (*b"GM", "Gambia"), (*b"GN", "Guinea"), (*b"GP", "Guadeloupe"),
    (*b"GQ", "Equatorial Guinea"), (*b"GR", "Greece"), (*b"GS", "South Georgia & South Sandwich Islands"),
    (*b"GT", "Guatemala"), (*b"GU", "Guam"), (*b"GW", "Guinea-Bissau"), (*b"GY", "Guyana"),
    (*b"HK", "Hong Kong SAR China"), (*b"HM", "Heard & McDonald Islands"), (*b"HN", "Honduras"),
    (*b"HR", "Croatia"), (*b"HT", "Haiti"), (*b"HU", "Hungary"), (*b"ID", "Indonesia"), (*b"IE", "Ireland"),
    (*b"IL", "Israel"), (*b"IM", "Isle of Man"), (*b"IN", "India"),
    (*b"IO", "British Indian Ocean Territory"), (*b"IQ", "Iraq"), (*b"IR", "Iran"), (*b"IS", "Iceland"),
    (*b"IT", "Italy"), (*b"JE", "Jersey"), (*b"JM", "Jamaica"), (*b"JO", "Jordan"), (*b"JP", "Japan"),
    (*b"KE", "Kenya"), (*b"KG", "Kyrgyzstan"), (*b"KH", "Cambodia"), (*b"KI", "Kiribati"),
    (*b"KM", "Comoros"), (*b"KN", "St. Kitts & Nevis"), (*b"KP", "North Korea"), (*b"KR", "South Korea"),
    (*b"KW", "Kuwait"), (*b"KY", "Cayman Islands"), (*b"KZ", "Kazakhstan"), (*b"LA", "Laos"),
    (*b"LB", "Lebanon"), (*b"LC", "St. Lucia"), (*b"LI", "Liechtenstein"), (*b"LK", "Sri Lanka"),
    (*b"LR", "Liberia"), (*b"LS", "Lesotho"), (*b"LT", "Lithuania"), (*b"LU", "Luxembourg"),
    (*b"LV", "Latvia"), (*b"LY", "Libya"), (*b"MA", "Morocco"), (*b"MC", "Monaco"), (*b"MD", "Moldova"),
    (*b"ME", "Montenegro"), (*b"MF", "St. Martin"), (*b"MG", "Madagascar"), (*b"MH", "Marshall Islands"),
    (*b"MK", "North Macedonia"), (*b"ML", "Mali"), (*b"MM", "Myanmar (Burma)"), (*b"MN", "Mongolia"),
    (*b"MO", "Macao SAR China"), (*b"MP", "Northern Mariana Islands"), (*b"MQ", "Martinique"),
    (*b"MR", "Mauritania"), (*b"MS", "Montserrat"), (*b"MT", "Malta"), (*b"MU", "Mauritius"),
    (*b"MV", "Maldives"), (*b"MW", "Malawi"), (*b"MX", "Mexico"), (*b"MY", "Malaysia"),
    (*b"MZ", "Mozambique"), (*b"NA", "Namibia"), (*b"NC", "New Caledonia"), (*b"NE", "Niger"),
    (*b"NF", "Norfolk Island"), (*b"NG", "Nigeria"), (*b"NI", "Nicaragua"), (*b"NL", "Netherlands"),
    (*b"NO", "Norway"), (*b"NP", "Nepal"), (*b"NR", "Nauru"), (*b"NU", "Niue"), (*b"NZ", "New Zealand"),
    (*b"OM", "Oman"), (*b"PA", "Panama"), (*b"PE", "Peru"), (*b"PF", "French Polynesia"),
    (*b"PG", "Papua New Guinea"), (*b"PH", "Philippines"), (*b"PK", "Pakistan"), (*b"PL", "Poland"),
    (*b"PM", "St. Pierre & Miquelon"), (*b"PN", "Pitcairn Islands"), (*b"PR", "Puerto Rico"),
    (*b"PS", "Palestinian Territories"), (*b"PT", "Portugal"), (*b"PW", "Palau"), (*b"PY", "Paraguay"),
    (*b"QA", "Qatar"), (*b"RE", "Réunion"), (*b"RO", "Romania"), (*b"RS", "Serbia"), (*b"RU", "Russia"),
    (*b"RW", "Rwanda"), (*b"SA", "Saudi Arabia"), (*b"SB", "Solomon Islands"), (*b"SC", "Seychelles"),
    (*b"SD", "Sudan"), (*b"SE", "Sweden"), (*b"SG", "Singapore"), (*b"SH", "St. Helena"),
    (*b"SI", "Slovenia"), (*b"SJ", "Svalbard & Jan Mayen"), (*b"SK", "Slovakia"), (*b"SL", "Sierra Leone"),
    (*b"SM", "San Marino"), (*b"SN", "Senegal"), (*b"SO", "Somalia"), (*b"SR", "Suriname"),
    (*b"SS", "South Sudan"), (*b"ST", "São Tomé & Príncipe"), (*b"SV", "El Salvador"),
    (*b"SX", "Sint Maarten"), (*b"SY", "Syria"), (*b"SZ", "Eswatini"), (*b"TC", "Turks & Caicos Islands"),
    (*b"TD", "Chad"), (*b"TF", "French Southern Territories"), (*b"TG", "Togo"), (*b"TH", "Thailand"),
    (*b"TJ", "Tajikistan"), (*b"TK", "Tokelau"), (*b"TL", "Timor-Leste"), (*b"TM", "Turkmenistan"),
    (*b"TN", "Tunisia"), (*b"TO", "Tonga"), (*b"TR", "Türkiye"), (*b"TT", "Trinidad & Tobago"),
    (*b"TV", "Tuvalu"), (*b"TW", "Taiwan"), (*b"TZ", "Tanzania"), (*b"UA", "Ukraine"), (*b"UG", "Uganda"),
    (*b"UM", "U.S. Outlying Islands"), (*b"US", "United States"), (*b"UY", "Uruguay"),
    (*b"UZ", "Uzbekistan"), (*b"VA", "Vatican City"), (*b"VC", "St. Vincent & Grenadines"),
    (*b"VE", "Venezuela"), (*b"VG", "British Virgin Islands"), (*b"VI", "U.S. Virgin Islands"),
    (*b"VN", "Vietnam"), (*b"VU", "Vanuatu"), (*b"WF", "Wallis & Futuna"), (*b"WS", "Samoa"),
    (*b"XK", "Kosovo"), (*b"YE", "Yemen"), (*b"YT", "Mayotte"), (*b"ZA", "South Africa"),
    (*b"ZM", "Zambia"), (*b"ZW", "Zimbabwe"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(NAMES.is_sorted_by_key(|(code, _)| *code));
        assert_eq!(country_name(*b"IE"), "Ireland");
        assert_eq!(country_name(*b"IN"), "India");
        assert_eq!(country_name(*b"ZZ"), "ZZ");
        assert!(is_country("GB") && !is_country("UK") && !is_country("in") && !is_country("IND"));
    }
}
